import { Writable } from 'node:stream';
import { beforeEach } from 'vitest';
import { configureLog } from '../../../shared/log.ts';

/** Takes what is logged in each test of a file. Returns what gives the text that was logged so far. */
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
