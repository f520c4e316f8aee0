func proxySchedule(_ program: consuming Program) {}
