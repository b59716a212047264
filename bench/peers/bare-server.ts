/** The floor: a uWebSockets.js handler that reads the body and answers 201, and does nothing else. */
import { App, us_socket_local_port } from 'uWebSockets.js';

App()
  .post('/v1/events', (res) => {
    res.onAborted(() => {});
    res.onData((_chunk, isLast) => {
      if (isLast) res.writeStatus('201 Created').end();
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket === false) process.exit(1);
    process.stdout.write(`listening ${us_socket_local_port(socket)}\n`);
  });
