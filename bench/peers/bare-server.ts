/**
 * The floor: uWebSockets.js handlers that read a body and answer 201, or answer a constant, and nothing else. With
 * `--write FILE` a POST is first written to a file, in one write(2): what a log that is written so comes to at the least.
 */

import { App, us_socket_local_port } from 'uWebSockets.js';
import { openSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { bytes: { type: 'string', default: '0' }, write: { type: 'string' } },
});
/** Bytes: a text of 17 kB it answered in 12.1 µs, and these in 10.1. */
const constant = Buffer.alloc(Number(values.bytes), 'x');
const file = values.write === undefined ? undefined : openSync(values.write, 'w');

App()
  .post('/v1/events', (res) => {
    res.onAborted(() => {});
    res.onData((chunk, isLast) => {
      if (!isLast) return;
      if (file !== undefined) writeSync(file, new Uint8Array(chunk));
      res.writeStatus('201 Created').end();
    });
  })
  .get('/*', (res) => {
    res.end(constant);
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket === false) process.exit(1);
    process.stdout.write(`listening ${us_socket_local_port(socket)}\n`);
  });
