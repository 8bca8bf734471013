import { describe, expect, it } from 'vitest';
import { listen } from '../../../../cli/commands/serveInstance.ts';

const address = { host: 'db.example', port: 80, setting: '--port' };

function failsWith(code: string): Promise<unknown> {
  return listen(address, () => Promise.reject(Object.assign(new Error(`${code}: raw`), { code })));
}

describe('an unavailable address', () => {
  it.each([
    ['EADDRINUSE', 'port 80 is in use: stop the program that listens there, or choose another port with --port'],
    ['EACCES', 'no permission to listen on port 80: choose a port above 1023 with --port'],
    ['EADDRNOTAVAIL', 'this machine has no address db.example: choose one of its addresses with --host'],
    ['ENOTFOUND', 'this machine has no address db.example'],
    ['EMFILE', 'EMFILE: raw'],
  ])('is reported for %s as: %s', async (code, message) => {
    await expect(failsWith(code)).rejects.toThrow(message);
  });
});
