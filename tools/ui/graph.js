// What the graph view draws with.
import Graph from "graphology";
import Sigma from "sigma";

export { Graph, Sigma };
