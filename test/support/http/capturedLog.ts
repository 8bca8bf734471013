import { Writable } from 'node:stream';
import { beforeEach } from 'vitest';
import { configureLog } from '../../../shared/log.ts';

/** Captures the log of each test of a file. Returns a function that returns the text of the log so far. */
export function capturedLog(): () => string {
  let logged = '';
  beforeEach(() => {
    logged = '';
    const stream = new Writable({
      write(chunk, _encoding, done) {
        logged += String(chunk);
        done();
      },
    });
    configureLog('info', stream);
  });
  return () => logged;
}
