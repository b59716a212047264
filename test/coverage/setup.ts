/** A process of the test runner is ended before it would tell what it covered. */
import { takeCoverage } from 'node:v8';
import { afterAll } from 'vitest';

afterAll(() => takeCoverage());
