import { hostUnknown, portForbidden, portInUse } from '../shared/errors/commandErrors.ts';
import type { RunningServer } from '../shared/http/serve.ts';
import { systemCode } from '../shared/systemCode.ts';

/** An address to listen on, and the setting that changes its port. */
interface Address {
  readonly host: string;
  readonly port: number;
  readonly setting: string;
}

/** The errors of an address that is not available, by the codes of the operating system. */
const errors: Readonly<Record<string, (address: Address) => Error>> = {
  EACCES: ({ port, setting }) => portForbidden(port, setting),
  EADDRINUSE: ({ port, setting }) => portInUse(port, setting),
  EADDRNOTAVAIL: ({ host }) => hostUnknown(host),
  ENOTFOUND: ({ host }) => hostUnknown(host),
};

/**
 * Starts a server.
 * @throws IdentityError that says which setting to change, when the address is not available
 */
export async function listen(address: Address, start: () => Promise<RunningServer>): Promise<RunningServer> {
  try {
    return await start();
  } catch (error) {
    throw errors[systemCode(error)]?.(address) ?? error;
  }
}
