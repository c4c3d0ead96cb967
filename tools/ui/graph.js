// What the graph view draws with.
import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import Sigma from "sigma";

export { Graph, Sigma, forceAtlas2 };
