import type { ImportResponse } from '../../functions/import/contract.ts';
import { placeRefused } from '../../shared/errors/placeErrors.ts';
import type { ZitadelConnection } from '../zitadel/connection.ts';
import type { ExportContent, ImportMeter, ImportOptions } from './place.ts';

/** Imports into a ZITADEL. */
export async function importIntoZitadel(
  connect: (signal: AbortSignal) => ZitadelConnection,
  _content: ExportContent,
  _options: ImportOptions,
  _meter: ImportMeter,
  signal: AbortSignal,
): Promise<ImportResponse> {
  throw placeRefused(connect(signal).baseUrl, 'this command does not import into a ZITADEL');
}
