/** The floor: uWebSockets.js handlers that read a body and answer 201, or answer a constant, and nothing else. */
import { App, us_socket_local_port } from 'uWebSockets.js';

const constant = 'x'.repeat(Number(process.argv[2] ?? 0));

App()
  .post('/v1/events', (res) => {
    res.onAborted(() => {});
    res.onData((_chunk, isLast) => {
      if (isLast) res.writeStatus('201 Created').end();
    });
  })
  .get('/*', (res) => {
    res.end(constant);
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket === false) process.exit(1);
    process.stdout.write(`listening ${us_socket_local_port(socket)}\n`);
  });
