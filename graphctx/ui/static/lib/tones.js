// Colours of communities.

// Eight hues that people with any kind of colour vision tell apart (after Okabe and Ito 2008; their yellow is too faint
// for a tint). Communities take them in the order of their size.
export const TONES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999933", "#6a58c0"];
export const PLAIN = "#8a919a";
