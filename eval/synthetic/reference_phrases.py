"""What the reference documentation of an invented message courier, Ferrule, says, and how people ask about it."""

from __future__ import annotations

COMMANDS = {
    "relay": "hands messages on to another host",
    "drain": "empties a queue before maintenance",
    "seal": "closes a queue for writers",
    "tally": "counts what waits in a queue",
    "mirror": "keeps a second copy of a queue elsewhere",
    "replay": "sends old messages once more",
    "probe": "tells whether a host answers",
    "pack": "writes a queue into one file",
    "merge": "makes one queue of two",
    "watch": "prints messages as they come",
    "lend": "gives another user the right to read",
    "park": "moves messages aside that nobody takes",
}

FLAGS = {
    "linger": (
        "SECONDS",
        "time during which late messages are still taken along",
        "For how long does `fer {c}` wait for stragglers when I do not say otherwise?",
        (5, 90, 5),
    ),
    "quorum": (
        "N",
        "number of hosts that must agree",
        "How many machines have to consent before `fer {c}` goes ahead, out of the box?",
        (2, 9, 1),
    ),
    "batch": (
        "N",
        "messages that travel together",
        "How many items does `fer {c}` put into one parcel by default?",
        (10, 400, 10),
    ),
    "backoff": (
        "MS",
        "pause between two attempts, in milliseconds",
        "What delay lies between retries of `fer {c}` unless changed?",
        (50, 900, 50),
    ),
    "ceiling": (
        "MIB",
        "most memory that may be taken, in MiB",
        "How much RAM may `fer {c}` use if nothing is configured?",
        (64, 900, 64),
    ),
    "lanes": ("N", "workers side by side", "With what degree of parallelism does `fer {c}` start?", (1, 24, 1)),
    "horizon": (
        "HOURS",
        "age beyond which messages are left alone, in hours",
        "How old may a message be before `fer {c}` ignores it?",
        (6, 240, 6),
    ),
    "stripe": (
        "KIB",
        "size of a block on disk, in KiB",
        "In what chunk size does `fer {c}` write to storage?",
        (16, 512, 16),
    ),
    "grace": (
        "SECONDS",
        "time that is left to running work after a stop signal",
        "When I interrupt `fer {c}`, after how many seconds is it killed?",
        (3, 60, 3),
    ),
    "depth": (
        "N",
        "how many levels of nested queues are entered",
        "How far down the hierarchy of queues does `fer {c}` go?",
        (1, 12, 1),
    ),
}

SETTINGS = {
    "queue.max_depth": ("messages that a queue holds before it refuses more", "the capacity of a queue"),
    "queue.idle_days": ("days without traffic after which a queue is removed", "the lifetime of an unused queue"),
    "host.retry_limit": ("attempts to reach a host before it is marked dead", "the number of tries per machine"),
    "host.clock_skew": ("seconds by which two clocks may differ", "the tolerated difference between clocks"),
    "disk.low_water": ("MiB of free space below which writing stops", "the reserve of storage"),
    "disk.sync_every": ("messages after which the log is flushed", "how often data is forced to the platter"),
    "auth.token_hours": ("hours for which a ticket is good", "the validity of a login"),
    "auth.max_failures": ("wrong passwords before an account is locked", "the number of failed logins allowed"),
    "wire.frame_kib": ("KiB of the largest frame on the network", "the biggest packet"),
    "wire.keepalive": ("seconds between two signs of life", "the heartbeat interval"),
    "audit.keep_weeks": ("weeks for which the journal is kept", "the retention of the journal"),
    "audit.sample_rate": ("one in so many reads that is written down", "the share of reads that are recorded"),
}

ERRORS = {
    "queue.max_depth": (
        "the queue is full",
        "a producer is told that nothing more fits",
        "my producer cannot add a message",
    ),
    "queue.idle_days": (
        "the queue was removed",
        "a name that worked last month is unknown now",
        "a queue that nobody used for long has vanished",
    ),
    "host.retry_limit": (
        "the host is marked dead",
        "a healthy machine is no longer contacted",
        "the courier has given up on a working server",
    ),
    "host.clock_skew": (
        "the clocks disagree",
        "a peer refuses because its time is off",
        "two servers have different ideas of what time it is",
    ),
    "disk.low_water": (
        "no space to write",
        "writing stops although a little storage is left",
        "the volume is nearly but not quite exhausted",
    ),
    "disk.sync_every": (
        "the log lags behind",
        "messages are lost after a power cut",
        "an outage has eaten recent data",
    ),
    "auth.token_hours": (
        "the ticket is stale",
        "a session ends in the middle of the night",
        "someone is thrown out long after signing in",
    ),
    "auth.max_failures": (
        "the account is locked",
        "somebody mistyped once too often",
        "a user typed bad credentials again and again",
    ),
    "wire.frame_kib": (
        "the frame is too large",
        "a big attachment is bounced",
        "something too voluminous is sent over the network",
    ),
    "wire.keepalive": (
        "the peer went quiet",
        "a connection through a firewall drops",
        "a silent line is cut by a device in between",
    ),
    "audit.keep_weeks": (
        "the journal has no such entry",
        "an old record cannot be found",
        "a very old trace is looked for in the history",
    ),
    "audit.sample_rate": (
        "the read was not recorded",
        "a look-up leaves no trace",
        "the history lacks a fetch that certainly happened",
    ),
}

FUNCTIONS = {
    "queue": ("open", "close", "peek", "push", "rename"),
    "host": ("join", "leave", "ping"),
    "ticket": ("issue", "revoke", "renew"),
    "journal": ("read", "trim"),
    "frame": ("wrap", "unwrap"),
}

RETURNS = (
    "a handle",
    "the number of messages",
    "nothing",
    "the old name",
    "a list of hosts",
    "a byte string",
    "true or false",
)

GUIDES = {
    "first-steps": "Install the package, start the courier with one host, and send yourself a message.",
    "two-sites": "Two sites that are far apart should share queues sparingly and copy at night.",
    "planned-outage": "Before a host goes down for maintenance, close its queues, empty them, and only then stop it.",
    "capacity": "Count messages at the busiest hour of the week, double that, and you have a sound first guess.",
    "security": "Give every service its own account, and let tickets be short-lived.",
    "backups": "A packed queue is a plain file. Copy it to a place that burns down independently.",
    "monitoring": "Watch three figures: what waits, what is late, and what was refused.",
    "upgrades": "Upgrade one host at a time, readers before writers.",
    "naming": "Name queues by what is in them and never by who reads them.",
    "troubleshooting": "Note the code first. Then look at the clock, the disk and the network, in that order.",
    "containers": "In containers the data folder must be a volume, or each restart begins with nothing.",
    "testing": "Tests run against a courier in memory; it forgets everything when the test ends.",
}

GLOSSARY = {
    "Courier": "the process that takes messages in and hands them out.",
    "Parcel": "messages that travel together.",
    "Straggler": "a message that arrives after its parcel has left.",
    "Ticket": "what a client shows to prove who it is.",
    "Waypoint": "a host that stores nothing and only passes on.",
    "Dead letter": "a message that nobody has taken for a week.",
    "Tide mark": "the position up to which a reader has read.",
    "Shadow queue": "the second copy that another host keeps.",
}

ASK_GLOSSARY = {
    "Courier": "What is the name of the process that accepts and delivers messages?",
    "Straggler": "What do the docs call a message that comes too late for its group?",
    "Waypoint": "How is a machine called that forwards but never keeps anything?",
    "Dead letter": "What does one call a message left untouched for seven days?",
    "Tide mark": "Which term stands for how far a consumer has got?",
    "Shadow queue": "What is the replica of a queue on a different machine called?",
}

NEVER = (
    "Under which licence is Ferrule published?",
    "Which port does the web console of Ferrule listen on?",
    "How do I send a message with `fer post`?",
    "What is the default of the setting `disk.encryption`?",
    "Which error code tells that a licence key has expired?",
    "Does Ferrule run on Solaris?",
    "Who maintains Ferrule?",
    "How can `fer watch` colour its output?",
)
