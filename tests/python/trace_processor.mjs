// Perfetto's trace processor, compiled to WebAssembly for its user interface, as a filter: takes
// TraceProcessorRpcStream messages on standard input and answers with such messages on standard
// output. The argument is the folder of the interface, with engine_bundle.js and the .wasm files.
//
// engine_bundle.js is a web worker: it reads the WebAssembly by a synchronous XMLHttpRequest, waits
// for a message with a port, then takes requests from that port and posts replies to it. It runs
// here in a context of its own that has what it asks of a worker, and no `process`, by which it
// would know that this is no browser.

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
