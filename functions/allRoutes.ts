import type { Route } from '../shared/http/route.ts';
import { withOpenApi } from '../shared/http/route.ts';
import { type ExportPorts, exportRoutes } from './export/app.ts';
import { type ImportPorts, importRoutes } from './import/app.ts';
import { type RemoveOtpEmailPorts, removeOtpEmailRoutes } from './removeOtpEmail/app.ts';

/** The routes of all three functions, and of what describes them, for a process that serves them on one port. */
export function allRoutes(ports: RemoveOtpEmailPorts & ExportPorts & ImportPorts): readonly Route[] {
  return withOpenApi([...removeOtpEmailRoutes(ports), ...exportRoutes(ports), ...importRoutes(ports)]);
}
