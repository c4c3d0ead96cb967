// What the graph view draws with. The plain programs draw points and thin lines; they serve drawings of thousands.
import Graph from "graphology";
import Sigma from "sigma";
import { EdgeLineProgram, NodePointProgram } from "sigma/rendering";

export { EdgeLineProgram, Graph, NodePointProgram, Sigma };
