module latchkey.dev/client

go 1.19
