// What the map of themes is laid out, panned and zoomed with, in the page and in exported pages.
import "d3-transition";

export { hierarchy, pack } from "d3-hierarchy";
export { select } from "d3-selection";
export { zoom, zoomIdentity } from "d3-zoom";
