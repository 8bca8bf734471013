import { type Authorization, type Command, type Exchange, fill, type Values } from './action.ts';

const NAME = /\$[A-Z_]+/;

/** Whether every `$NAME` in a command has a value. */
export function isResolvable({ program, args }: Command, values: Values): boolean {
  return ![program, ...args].some((part) => NAME.test(fill(part, values)));
}

/** Replaces the names in a command. @throws Error for one without a value */
export function resolveCommand({ env, ...command }: Command, values: Values): Command {
  const args = command.args.map((part) => replace(part, values));
  if (env === undefined) return { ...command, args };
  const variables = Object.entries(env).map(([name, value]) => [name, replace(value, values)]);
  return { ...command, args, env: Object.fromEntries(variables) };
}

/** Replaces the names in a request. @throws Error for one without a value */
export function resolveRequest({ authorization, ...request }: Exchange, values: Values): Exchange {
  const url = replace(request.url, values);
  if (authorization === undefined) return { ...request, url };
  return { ...request, url, authorization: resolveCaller(authorization, values) };
}

function resolveCaller(authorization: Authorization, values: Values): Authorization {
  if ('tokenFile' in authorization) return { tokenFile: replace(authorization.tokenFile, values) };
  return { ...authorization, keyFile: replace(authorization.keyFile, values) };
}

function replace(template: string, values: Values): string {
  const filled = fill(template, values);
  if (NAME.test(filled)) throw new Error(`${filled} names a value that is not known yet`);
  return filled;
}
