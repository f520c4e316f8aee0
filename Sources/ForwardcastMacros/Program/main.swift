// main.swift: the program that the compiler starts to expand the attributes.
// Part of the macro program: Program. See the article "How the attributes work".

import ForwardcastExpansion

let channel = Channel(input: 0, output: 1)
while let message = channel.receive() {
  guard channel.send(Conversation.reply(to: message)) else { break }
}
