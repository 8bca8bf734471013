import { Resolver } from 'node:dns/promises';
import { writeFile } from 'node:fs/promises';
import { OWNER_ONLY } from '../../shared/durableFiles.ts';
import { systemCode } from '../../shared/systemCode.ts';
import { runInterruptibly } from './interruptible.ts';
import type { Ports } from './ports.ts';
import { sendRequest } from './sendRequest.ts';

const NO_RECORD: readonly unknown[] = ['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'ETIMEOUT'];

/** The ports of a real run. */
export const systemPorts: Ports = {
  run: runInterruptibly,
  send: sendRequest,
  write: (path, content) => writeFile(path, content, { mode: OWNER_ONLY, flag: 'wx' }),
  lookup: async (name, type) => {
    try {
      const resolver = new Resolver();
      return type === 'CNAME' ? await resolver.resolveCname(name) : await resolver.resolve4(name);
    } catch (error) {
      if (NO_RECORD.includes(systemCode(error))) return [];
      throw error;
    }
  },
};
