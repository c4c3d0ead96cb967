"""AGENTS.db: layered context in single binary files that live in a repository beside the code.

    stack = LayerStack("path/to/repository")
    stack.search("how are releases made?", k=5, kinds=["invariant"]).hits
    write_context(stack, content="…", kind="note", confidence=0.7, scope="local", sources=["docs/a.md:12"])

- `LayerStack` opens the layers of a folder and searches their union; `LayerFile` is one file, mapped and checked;
  `validate` lists what is wrong with one.
- `write_context` appends to the local, the delta or, for people, the user layer, and `retract` a tombstone;
  `propose`, `proposals`, `decide` and `promote` bring chunks into the user layer; `compact` makes a new base layer.
- `write_layer` and `to_bytes` make files of `LayerContent`; `content_of` reads a file's; every write is an `append`.
- `to_bundle`, `to_ndjson`, `from_json` and `from_ndjson` exchange layers as text; `diff` compares two; `sign` and
  `verify` are Ed25519.

docs/layers.md says how to use it, docs/agents-db-conformance.md which rule is proved by which test.
"""

from graphctx.layers.checks import FileFinding
from graphctx.layers.chunk import Chunk, Source
from graphctx.layers.compact import Compacted, compact
from graphctx.layers.conflicts import Conflict, Member
from graphctx.layers.diff import Change, LayerDiff, diff
from graphctx.layers.effective import LayerView
from graphctx.layers.embedders import ProfiledEmbedder, built_in, embedder_for, hashed
from graphctx.layers.exchange import chunk_json, from_json, from_ndjson, to_bundle, to_ndjson
from graphctx.layers.files import append, to_bytes, write_layer
from graphctx.layers.hashing import HashEmbedder
from graphctx.layers.names import FILES, LAYERS, PRECEDENCE, WRITABLE, LayerName, layer_named, layer_of_file
from graphctx.layers.profile import Profile, cache_key, metadata_for
from graphctx.layers.promote import Promoted, Proposal, decide, promote, proposals, propose
from graphctx.layers.reader import LayerFile, validate
from graphctx.layers.search import LayerAnswer, LayerHit
from graphctx.layers.sign import make_key, sign, verify
from graphctx.layers.stack import LayerEntry, LayerStack
from graphctx.layers.tables import LayerContent, content_of
from graphctx.layers.write import Retraction, Written, retract, write_context

__all__ = [
    "FILES",
    "LAYERS",
    "PRECEDENCE",
    "WRITABLE",
    "Change",
    "Chunk",
    "Compacted",
    "Conflict",
    "FileFinding",
    "HashEmbedder",
    "LayerAnswer",
    "LayerContent",
    "LayerDiff",
    "LayerEntry",
    "LayerFile",
    "LayerHit",
    "LayerName",
    "LayerStack",
    "LayerView",
    "Member",
    "Profile",
    "ProfiledEmbedder",
    "Promoted",
    "Proposal",
    "Retraction",
    "Source",
    "Written",
    "append",
    "built_in",
    "cache_key",
    "chunk_json",
    "compact",
    "content_of",
    "decide",
    "diff",
    "embedder_for",
    "from_json",
    "from_ndjson",
    "hashed",
    "layer_named",
    "layer_of_file",
    "make_key",
    "metadata_for",
    "promote",
    "proposals",
    "propose",
    "retract",
    "sign",
    "to_bundle",
    "to_bytes",
    "to_ndjson",
    "validate",
    "verify",
    "write_context",
    "write_layer",
]
