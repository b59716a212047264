/** Takes the types out of the dashboard's modules. Node says of it that it may change, on a stderr of its own here. */
import { stripTypeScriptTypes } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

const sources: readonly string[] = workerData;
parentPort?.postMessage(sources.map((source) => stripTypeScriptTypes(source)));
