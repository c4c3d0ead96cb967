"""The tool contract, proved through the protocol: a client, the server, and a real knowledge base of nasty documents."""
