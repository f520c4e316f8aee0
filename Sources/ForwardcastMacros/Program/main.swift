// main.swift: the program that the compiler starts to expand the attributes.

import ForwardcastExpansion

let channel = Channel()
while let message = channel.receive(), channel.send(Conversation.reply(to: message)) {}
