import type { Route } from '../shared/http/route.ts';
import { type ExportPorts, exportRoutes } from './export/app.ts';
import { type ImportPorts, importRoutes } from './import/app.ts';
import { type RemoveOtpEmailPorts, removeOtpEmailRoutes } from './removeOtpEmail/app.ts';

/** The routes of all three functions, for a process that serves them on one port. */
export function allRoutes(ports: RemoveOtpEmailPorts & ExportPorts & ImportPorts): readonly Route[] {
  return [...removeOtpEmailRoutes(ports), ...exportRoutes(ports), ...importRoutes(ports)];
}
