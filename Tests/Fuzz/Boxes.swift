func boxedMessage(_ program: consuming Program) {}
