// What the views import as lib/html.js: components, hooks and templates without a build step.
import { h, render, Fragment, createRef } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import htm from "htm";

const html = htm.bind(h);
export {
  html, h, render, Fragment, createRef,
  useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState,
};
