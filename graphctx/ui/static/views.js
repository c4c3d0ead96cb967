// The views of the page, a line each, in the order of the navigation. A view is loaded when it is first opened; its
// module exports the component that gets { status, params, reload }.
export const VIEWS = [
  { name: "ask", title: "Ask", load: () => import("./views/ask.js"), needs: (status) => status.state === "ready" },
  { name: "themes", title: "Themes", load: () => import("./views/themes.js"), needs: (status) => status.state === "ready" },
  { name: "graph", title: "Graph", load: () => import("./views/graph.js"), needs: (status) => status.state === "ready" },
  { name: "documents", title: "Documents", load: () => import("./views/documents.js"), needs: (status) => status.state === "ready" },
  { name: "ingest", title: "Ingest", load: () => import("./views/ingest.js"), needs: () => true },
  { name: "memory", title: "Memory", load: () => import("./views/memory.js"), needs: (status) => status.serves.memory },
  { name: "layers", title: "Layers", load: () => import("./views/layers.js"), needs: (status) => status.serves.layers },
  { name: "evaluation", title: "Evaluation", load: () => import("./views/evaluation.js"), needs: (status) => status.serves.reports },
];
