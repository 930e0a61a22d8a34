// Runs Perfetto's trace processor, compiled to WebAssembly for its user interface, as a filter. It
// reads TraceProcessorRpcStream messages from standard input and writes its answers, in the same
// format, to standard output. The argument is the folder of the interface, which contains
// engine_bundle.js and the .wasm files.
//
// engine_bundle.js is a web worker. It reads the WebAssembly with a synchronous XMLHttpRequest, waits
// for a message with a port, then reads requests from that port and posts replies to it. It runs here
// in a separate context that has the interfaces of a worker, but not `process`, which would reveal
// that it does not run in a browser.

import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";

const [folder] = process.argv.slice(2);

class LocalFile {
  open(_method, name) {
    this.name = name;
  }
  send() {
    this.response = readFileSync(join(folder, this.name));
  }
}

const worker = {
  WorkerGlobalScope: Object,
  XMLHttpRequest: LocalFile,
  location: { href: "" },
  console: { log: console.error, warn: console.error, error: console.error },
  Uint8Array,
  TextDecoder,
  TextEncoder,
  URL,
  crypto,
  performance,
  setTimeout,
};
worker.self = worker;

function write(bytes) {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

runInContext(readFileSync(join(folder, "engine_bundle.js"), "utf8"), createContext(worker));
const port = { postMessage: write };
worker.onmessage({ data: port });
for await (const request of process.stdin) {
  port.onmessage({ data: new Uint8Array(request) });
}
