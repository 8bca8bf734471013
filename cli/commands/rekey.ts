import { defineInstanceCommand, interruptible } from '../command.ts';
import { counted } from '../numberTexts.ts';

export const rekeyCommand = defineInstanceCommand({
  name: 'rekey',
  summary: 'encrypt all secrets with a new master key',
  details:
    'The new key is in master.key, or the first one in IDENTITY_MASTER_KEY. The instance may run. If the command was interrupted, repeat it.',
  isAudited: true,
  arguments: [],
  options: {},
  examples: ['rekey --data ./north'],
  run: async ({ store, location, signal, stderr }) => {
    const { keyFenceMs, openKeyring, requireMasterKey } = await import('../../shared/store/openStore.ts');
    const { rekey } = await import('../../shared/store/secrets/rekey.ts');
    requireMasterKey(location);
    const onStep = (name: string) => void stderr.write(`${name}\n`);
    const fenceMs = keyFenceMs(location);
    return interruptible(signal, 'interrupted: repeat the command, which encrypts the rest', async () => {
      const { keyId, documents } = await rekey(store, openKeyring(location), { signal, onStep, fenceMs });
      const text = `all secrets are encrypted with the master key ${keyId}: ${counted(documents, 'document')} had another key`;
      return { json: { keyId, documents }, text };
    });
  },
});
