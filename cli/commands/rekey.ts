import { openKeyring, requireMasterKey } from '../../shared/store/openStore.ts';
import { KEY_FENCE_MILLISECONDS, rekey as rotate } from '../../shared/store/secrets/rekey.ts';
import { InterruptedError, type Run } from '../command.ts';

/** Runs `identity rekey`. */
export const rekey: Run = async ({ store, location, signal }) => {
  requireMasterKey(location);
  const onStep = (name: string) => void process.stderr.write(`${name}\n`);
  const fenceMs = location.kind === 'sqlite' ? 0 : KEY_FENCE_MILLISECONDS;
  try {
    const { keyId, documents } = await rotate(store, openKeyring(location), { signal, onStep, fenceMs });
    const text = `all secrets are encrypted with the master key ${keyId}: ${documents} documents had another one`;
    return { json: { keyId, documents }, text };
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new InterruptedError('interrupted: repeat the command, which encrypts the rest');
  }
};
