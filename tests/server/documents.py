"""The documents of these tests: a handbook that can be seen through, and texts that are hard to cut."""

from __future__ import annotations

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
MARKED = f"The {FAMILY} of Z\u0351\u036b\u0343rich \U0001f1eb\U0001f1ee \u1112\u1161\u11ab. " * 24
LONG_LINE = "lorem ipsum \u1797\u17b6\u179f\u17b6 \U0001f600 " * 1_000
"""One line of 22,000 characters."""

DOCUMENTS = {
    "ops/backup.md": (
        "---\ntitle: Backups\ntags: [ops]\ndate: 2024-11-01\n---\n\n# Backups\n\nThe nightly backup of the ledger starts "
        "at 02:10 and is kept for 35 days. It is run by the night watch.\n\n# Restore\n\nA restore begins with a call to "
        "the duty officer. Only the duty officer may unseal the vault key. The restore of the ledger takes about forty "
        "minutes.\n"
    ),
    "people/duty.md": (
        "---\ntitle: Duty rota\ntags: [people, ops]\n---\n\n# Duty officer\n\nThe duty officer for the ledger is Ines "
        "Halvorsen until March. Ines Halvorsen is reached on the red telephone.\n\n# Night watch\n\nThe night watch looks "
        "after backups – and coffee ☕. It hands over to Ines Halvorsen at 06:00.\n"
    ),
    "glossary.txt": "Ledger: the book of all accounts, kept since 1974.\n\nVault key: the key that opens sealed backups.\n",
    "people/boards.md": (
        "# The board\n\nThe Regional Tide Board (RTB) counts the backups. The RTB reports to Ines Halvorsen.\n"
    ),
    "people/rope.md": "# Rope\n\nThe Ropewalk Trade Bureau (RTB) sells rope. The RTB is led by Bo Ling.\n",
    "odd/marks.md": f"# Before\n\nA line before.\n\n# Marks\n\n{MARKED.strip()}\n\n# After\n\nA line after.\n",
    "odd/line.txt": LONG_LINE,
}
