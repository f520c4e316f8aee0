// TypeEncodingRefusals.swift: malformed texts with their error and its byte.

import ForwardcastEncoding
import Testing

/// A malformed text with the rule it breaks and the offset of the byte that breaks it.
struct Refusal: CustomTestStringConvertible {
  let text: String
  let offset: Int
  let code: TypeEncodingError.Code

  init(_ text: String, _ offset: Int, _ code: TypeEncodingError.Code) {
    self.text = text
    self.offset = offset
    self.code = code
  }

  var testDescription: String { "\(code) at \(offset) of \(text.prefix(40))" }

  static let ofTypes: [Refusal] = [
    // A missing type.
    Refusal("", 0, .unexpectedEnd), Refusal("^", 1, .unexpectedEnd), Refusal("^^^", 3, .unexpectedEnd),
    Refusal("r", 1, .unexpectedEnd), Refusal("rnN", 3, .unexpectedEnd), Refusal("A", 1, .unexpectedEnd),
    Refusal("V", 1, .unexpectedEnd), Refusal("j", 1, .unexpectedEnd), Refusal("b", 1, .unexpectedEnd),
    Refusal("[", 1, .unexpectedEnd), Refusal("[3", 2, .unexpectedEnd), Refusal("[3i", 3, .unexpectedEnd),
    Refusal("{", 1, .unexpectedEnd), Refusal("{Point", 6, .unexpectedEnd), Refusal("{Point=", 7, .unexpectedEnd),
    Refusal("{Point=d", 8, .unexpectedEnd), Refusal("{?=\"x\"", 6, .unexpectedEnd),
    Refusal("{?=\"x", 5, .unexpectedEnd),
    Refusal("{?=\"", 4, .unexpectedEnd), Refusal("(", 1, .unexpectedEnd), Refusal("(U=i", 4, .unexpectedEnd),
    Refusal("@\"", 2, .unexpectedEnd), Refusal("@\"NSString", 10, .unexpectedEnd), Refusal("@?<", 3, .unexpectedEnd),
    Refusal("@?<v", 4, .unexpectedEnd), Refusal("@?<v@?", 6, .unexpectedEnd), Refusal("@?<v@?@\"A", 9, .unexpectedEnd),
    Refusal("{vector<int", 11, .unexpectedEnd), Refusal("{a<b<c>", 7, .unexpectedEnd),
    Refusal("{?=^", 4, .unexpectedEnd),
    Refusal("{?={?=i}", 8, .unexpectedEnd),
    // Bytes that start no type.
    Refusal("&", 0, .unknownType), Refusal("%", 0, .unknownType), Refusal("!", 0, .unknownType),
    Refusal(" ", 0, .unknownType),
    Refusal("x", 0, .unknownType), Refusal("0", 0, .unknownType), Refusal("3i", 0, .unknownType),
    Refusal("\"", 0, .unknownType),
    Refusal("]", 0, .unknownType), Refusal("}", 0, .unknownType), Refusal(")", 0, .unknownType),
    Refusal(">", 0, .unknownType),
    Refusal("\0", 0, .unknownType), Refusal("é", 0, .unknownType), Refusal("^&", 1, .unknownType),
    Refusal("r i", 1, .unknownType),
    Refusal("[3&]", 2, .unknownType), Refusal("[3]", 2, .unknownType), Refusal("[12[3]]", 5, .unknownType),
    Refusal("{Point=dd&}", 9, .unknownType), Refusal("{Point=d d}", 8, .unknownType), Refusal("{?=i)", 4, .unknownType),
    Refusal("(?=i}", 4, .unknownType), Refusal("{?=^}", 4, .unknownType), Refusal("{?=r}", 4, .unknownType),
    Refusal("{?=i\"a\"i}", 4, .unknownType), Refusal("{?=\"a\"}", 6, .unknownType),
    Refusal("{?=\"a\"\"b\"i}", 6, .unknownType),
    Refusal("@?<>", 3, .unknownType), Refusal("@?<v@?!>", 6, .unknownType), Refusal("{?=[2{?=i~}]}", 9, .unknownType),
    Refusal("+i", 0, .unknownType), Refusal("_", 0, .unknownType), Refusal("^\"A\"", 1, .unknownType),
    Refusal("ai", 0, .unknownType),
    // Trailing text.
    Refusal("ii", 1, .trailingText), Refusal("i ", 1, .trailingText), Refusal("i0", 1, .trailingText),
    Refusal("@@", 1, .trailingText),
    Refusal("@\"A\"\"B\"", 4, .trailingText), Refusal("{?=i}}", 5, .trailingText), Refusal("[3i]]", 4, .trailingText),
    Refusal("^iq", 2, .trailingText), Refusal("@?<v@?>>", 7, .trailingText), Refusal("jdd", 2, .trailingText),
    Refusal("v\0", 1, .trailingText), Refusal("b3b3", 2, .trailingText), Refusal("@ ?", 1, .trailingText),
    Refusal("#\"A\"", 1, .trailingText),
    // Numbers.
    Refusal("[i]", 1, .numberExpected), Refusal("[]", 1, .numberExpected), Refusal("[-3i]", 1, .numberExpected),
    Refusal("[ 3i]", 1, .numberExpected), Refusal("bi", 1, .numberExpected), Refusal("b-1", 1, .numberExpected),
    Refusal("{?=b}", 4, .numberExpected), Refusal("{?=ibI}", 5, .numberExpected), Refusal("[٣i]", 1, .numberExpected),
    Refusal("[03i]", 1, .leadingZero), Refusal("[00i]", 1, .leadingZero), Refusal("b01", 1, .leadingZero),
    Refusal("{?=b0I03}", 6, .leadingZero), Refusal("[140737488355329i]", 1, .numberTooLarge),
    Refusal("[99999999999999999999999999i]", 1, .numberTooLarge),
    Refusal("b340282366920938463463374607431768211456", 1, .numberTooLarge),
    Refusal("{?=b99999999999999999999I3}", 4, .numberTooLarge), Refusal("b129", 1, .bitFieldTooWide),
    Refusal("{?=ib4096}", 5, .bitFieldTooWide), Refusal("{?=b0c9}", 6, .bitFieldTooWide),
    Refusal("{?=b0I33}", 6, .bitFieldTooWide),
    Refusal("{?=b64q65}", 7, .bitFieldTooWide),
    // Names.
    Refusal("{}", 1, .emptyRecord), Refusal("()", 1, .emptyRecord), Refusal("^{}", 2, .emptyRecord),
    Refusal("[2()]", 3, .emptyRecord),
    Refusal("{ =i}", 1, .invalidName), Refusal("{a b=i}", 2, .invalidName), Refusal("{{=i}}", 1, .invalidName),
    Refusal("{a)", 2, .invalidName), Refusal("{a\"b\"i}", 2, .invalidName), Refusal("{a^i}", 2, .invalidName),
    Refusal("{?x=i}", 2, .invalidName), Refusal("{??=i}", 2, .invalidName), Refusal("{x?=i}", 2, .invalidName),
    Refusal("{?<a>=i}", 2, .invalidName), Refusal("{<a>=i}", 1, .invalidName), Refusal("{a>=i}", 2, .invalidName),
    Refusal("{a<b\n>=i}", 4, .invalidName), Refusal("{a\0=i}", 2, .invalidName),
    Refusal("(a\u{7F}=i)", 2, .invalidName),
    Refusal("{?=\"a\nb\"i}", 5, .invalidName), Refusal("@\"A\tB\"", 3, .invalidName),
    Refusal("{?=b3ib3\"a\"i}", 8, .unknownType), Refusal("{?=b3\"a\"ii}", 9, .memberNameExpected),
    Refusal("{?=\"a\"ii}", 7, .memberNameExpected),
    Refusal("{?=\"a\"i{?=i}}", 7, .memberNameExpected), Refusal("(?=\"a\"@i)", 7, .memberNameExpected),
    // Types in the wrong place.
    Refusal("[3ii]", 3, .bracketExpected), Refusal("[3i}", 3, .bracketExpected), Refusal("[3i)", 3, .bracketExpected),
    Refusal("[3[4i}]", 5, .bracketExpected), Refusal("j@", 1, .complexPartExpected),
    Refusal("jv", 1, .complexPartExpected),
    Refusal("jB", 1, .complexPartExpected), Refusal("jjd", 1, .complexPartExpected),
    Refusal("j{?=d}", 1, .complexPartExpected),
    Refusal("jrd", 1, .complexPartExpected), Refusal("^b3", 1, .misplacedBitField),
    Refusal("[2b3]", 2, .misplacedBitField),
    Refusal("@?<b3@?>", 3, .misplacedBitField), Refusal("@?<v@?b3>", 6, .misplacedBitField),
    Refusal("@?<vi>", 4, .blockExpected),
    Refusal("@?<v@>", 4, .blockExpected), Refusal("@?<vr@?>", 4, .blockExpected),
    Refusal("@?<v@?<v@?>>", 4, .blockExpected),
    // Limits.
    Refusal(String(repeating: "^", count: 65) + "i", 64, .tooDeep),
    Refusal(String(repeating: "[1", count: 1000), 128, .tooDeep),
    Refusal(String(repeating: "{a=", count: 30_000 / 3), 192, .tooDeep),
    Refusal(String(repeating: "(?=", count: 65), 192, .tooDeep),
    Refusal(String(repeating: "@?<v@?", count: 65), 386, .tooDeep), Refusal("[140737488355328s]", 0, .typeTooLarge),
    Refusal("[16777216[16777216i]]", 0, .typeTooLarge), Refusal("{?=[140737488355328c]c}", 0, .typeTooLarge),
    Refusal("^[65536[65536[65536[65536D]]]]", 7, .typeTooLarge),
    Refusal("{?=b140737488355328I3[140737488355328c]}", 0, .typeTooLarge),
    Refusal(String(repeating: "i", count: 65_537), 65_536, .tooLong),
    Refusal(String(repeating: "r", count: 1_000_000), 65_536, .tooLong),
    Refusal(String(repeating: "r", count: 65_536), 65_536, .unexpectedEnd),
  ]

  static let ofSignatures: [Refusal] = [
    Refusal("", 0, .unexpectedEnd), Refusal("v", 1, .receiverExpected), Refusal("v24", 3, .receiverExpected),
    Refusal("v@", 2, .selectorExpected), Refusal("v@0", 3, .selectorExpected), Refusal("vi:", 1, .receiverExpected),
    Refusal("v:@", 1, .receiverExpected), Refusal("v@?:", 1, .receiverExpected),
    Refusal("v16^@0:8", 3, .receiverExpected),
    Refusal("v@i", 2, .selectorExpected), Refusal("v@@:", 2, .selectorExpected),
    Refusal("v16@0i8", 5, .selectorExpected),
    Refusal("v@:&", 3, .unknownType), Refusal("&@:", 0, .unknownType), Refusal("v&:", 1, .unknownType),
    Refusal("v@&", 2, .unknownType),
    Refusal("16@0:8", 0, .unknownType), Refusal("v24@0:8q16 ", 10, .unknownType),
    Refusal("v24@0:8q-", 9, .unexpectedEnd), Refusal("v24@0:8q+-1", 9, .numberExpected),
    Refusal("v24@0:8q+q", 9, .numberExpected), Refusal("v+24@0:8", 1, .unknownType),
    Refusal("v24@+00:8", 5, .leadingZero), Refusal("v24@-140737488355329:8", 5, .numberTooLarge),
    Refusal("v@:^", 4, .unexpectedEnd), Refusal("v@:r", 4, .unexpectedEnd), Refusal("v@:{", 4, .unexpectedEnd),
    Refusal("v@:[3i", 6, .unexpectedEnd), Refusal("v@:b3", 3, .misplacedBitField),
    Refusal("b3@:", 0, .misplacedBitField),
    Refusal("v024@0:8", 1, .leadingZero), Refusal("v24@00:8", 4, .leadingZero), Refusal("v24@0:08", 6, .leadingZero),
    Refusal("v99999999999999999999@0:8", 1, .numberTooLarge), Refusal("v24@0:140737488355329", 6, .numberTooLarge),
    Refusal("v@:\u{0}", 3, .unknownType), Refusal("v@:}", 3, .unknownType), Refusal("v@:{}", 4, .emptyRecord),
    Refusal("v@:" + String(repeating: "q", count: 65_534), 65_536, .tooLong),
    Refusal("v@:" + String(repeating: "^", count: 100), 67, .tooDeep),
  ]
}
