import { registerFunction } from '../../shared/http/functionShell.ts';
import { allEndpoints } from '../endpoints.ts';
import { functionProgram } from '../functionProgram.ts';
import { routes } from './app.ts';

registerFunction('removeOtpEmail', (config) =>
  functionProgram(config, routes, config.describesInstance ? allEndpoints : undefined),
);
