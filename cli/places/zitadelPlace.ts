import { deleteServiceUser } from '../zitadel/cleanUp.ts';
import type { ZitadelConnection } from '../zitadel/connection.ts';
import { readCaller } from '../zitadel/recognise.ts';
import { exportContent } from '../zitadel/source/exportContent.ts';
import type { InstanceSettings } from './instanceFacts.ts';
import type { DatabasePlace } from './place.ts';
import { readZitadelFacts } from './zitadelFacts.ts';
import { importIntoZitadel } from './zitadelImport.ts';

/** Opens a ZITADEL as a place: it exports organisation by organisation, and imports in steps. */
export function openZitadel({ origin, token }: InstanceSettings): DatabasePlace {
  const connect = (signal: AbortSignal): ZitadelConnection => ({ baseUrl: origin, token: async () => token, signal });
  return {
    takes: 'imports',
    name: origin,
    readExport: async (options) => exportContent(connect, options),
    import: (content, options, meter, signal) => importIntoZitadel(connect, content, options, meter, signal),
    facts: (signal) => readZitadelFacts(connect(signal)),
    async deleteCaller(signal) {
      const { userId, isServiceUser } = await readCaller(connect(signal));
      return isServiceUser && (await deleteServiceUser(connect(signal), userId));
    },
  };
}
