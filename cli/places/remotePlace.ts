import { placeNotKnown } from '../../shared/errors/placeErrors.ts';
import type { InstanceSettings } from './instancePlace.ts';
import type { DatabasePlace } from './place.ts';
import { recognise } from './recognise.ts';

/**
 * Opens what answers at an address as a place: an instance of this service, or a ZITADEL. Each call finds that out first,
 * so that no token reaches another service.
 */
export function openRemote(settings: InstanceSettings): DatabasePlace {
  return {
    takes: 'imports',
    isRemote: true,
    name: settings.origin,
    readExport: async (options, signal) => (await openRecognised(settings, signal)).readExport(options, signal),
    import: async (content, options, meter, signal) =>
      (await openRecognised(settings, signal)).import(content, options, meter, signal),
    facts: async (signal) => (await openRecognised(settings, signal)).facts(signal),
    deleteCaller: async (signal) => (await (await openRecognised(settings, signal)).deleteCaller?.(signal)) ?? false,
  };
}

/** Loads only the modules of the service that answers. */
async function openRecognised(settings: InstanceSettings, signal: AbortSignal): Promise<DatabasePlace> {
  const found = await recognise(settings.origin, signal);
  switch (found.kind) {
    case 'ours':
      return (await import('./instancePlace.ts')).openInstance(settings);
    case 'zitadel':
      return (await import('./zitadelPlace.ts')).openZitadel(settings);
    case 'unknown':
      throw placeNotKnown(settings.origin, found.reason);
  }
}
