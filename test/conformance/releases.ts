import { z } from 'zod';
import type { Deliberate } from './deliberate.ts';

/** A release of ZITADEL, by its number or by the month of its build. */
export const zitadelRelease = z.enum(['2.71', '4.0', '2026-07']);

/** How the responses of each release of ZITADEL differ from the recorded ones. */
export const releaseDifferences: Readonly<Record<z.infer<typeof zitadelRelease>, readonly Deliberate[]>> = {
  '2.71': [],
  '4.0': [],
  '2026-07': [],
};
