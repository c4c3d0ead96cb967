// Uploads. They go on while another view is open, so their state is not a component's.
import { request } from "./api.js";
import { useEffect, useState } from "./html.js";

const IDLE = { state: "idle", done: 0, total: 0, name: "", refused: [] };
const listeners = new Set();
let upload = IDLE;
let stop;

function set(changes) {
  upload = { ...upload, ...changes };
  for (const listener of listeners) listener(upload);
}

/** The upload as it is: { state: "idle" | "running", done, total, name, refused: [{ path, reason }] }; sizes in bytes. */
export function useUpload() {
  const [value, setValue] = useState(upload);
  useEffect(() => {
    listeners.add(setValue);
    setValue(upload);
    return () => listeners.delete(setValue);
  }, []);
  return value;
}

export const cancelUpload = () => stop?.abort();

/** Send files, [{ file, path }], in parts; return how many arrived. One that the server refuses is noted and left out. */
export async function sendFiles(files, partBytes) {
  stop = new AbortController();
  let arrived = 0;
  set({ ...IDLE, state: "running", total: files.reduce((sum, { file }) => sum + file.size, 0) });
  const leave = (event) => event.preventDefault();
  addEventListener("beforeunload", leave);
  try {
    for (const { file, path } of files) {
      const before = upload.done;
      set({ name: path });
      try {
        for (let offset = 0; offset === 0 || offset < file.size; offset += partBytes) {
          const part = await file.slice(offset, offset + partBytes).arrayBuffer();
          const query = new URLSearchParams({ path, offset, size: file.size });
          await request(`upload?${query}`, { method: "POST", body: part, signal: stop.signal });
          set({ done: before + Math.min(file.size, offset + partBytes) });
        }
        arrived += 1;
      } catch (error) {
        if (error.code !== "INVALID_ARGUMENT" && error.name !== "NotReadableError") throw error;
        set({ done: before + file.size, refused: [...upload.refused, { path, reason: error.message }] });
      }
    }
    return arrived;
  } finally {
    removeEventListener("beforeunload", leave);
    set({ state: "idle" });
  }
}

/** Return the files of a drop, folders with all that is in them, as [{ file, path }]. */
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return chosenFiles(transfer.files);
  const found = [];
  const walk = async (entry, folder) => {
    const path = folder + entry.name;
    if (!isRead(path)) return;
    if (entry.isFile) {
      found.push({ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), path });
      return;
    }
    const reader = entry.createReader();
    for (;;) { // a reader returns a hundred entries at a time
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!some.length) return;
      for (const one of some) await walk(one, `${path}/`);
    }
  };
  for (const entry of entries) await walk(entry, "");
  return found;
}

/** Return the files of a chooser as [{ file, path }]. */
export const chosenFiles = (files) => [...files]
  .map((file) => ({ file, path: file.webkitRelativePath || file.name }))
  .filter(({ path }) => isRead(path));

// Hidden files and folders of other people's code are not documents; an ingest of a folder leaves them out, too.
const isRead = (path) => !/(^|\/)(\.|~\$|(node_modules|__pycache__|__pypackages__|site-packages)\/)/.test(`${path}/`);

/** Whether a file's type can be read; one without a suffix is for the server to judge. */
export function isReadable(path, suffixes) {
  const suffix = path.match(/[^/](\.[^./]+)$/)?.[1];
  return suffix === undefined || suffixes.has(suffix.toLowerCase());
}
