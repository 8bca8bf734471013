import { defineInstanceCommand, flag, optional } from '../terminal/command.ts';

export const serveCommand = defineInstanceCommand({
  name: 'serve',
  summary: 'serve an instance on one port, until SIGINT or SIGTERM',
  arguments: [],
  options: {
    host: optional(
      'HOST',
      'address to listen on; by default 127.0.0.1; addresses that other machines can reach need TRUSTED_PROXIES',
    ),
    port: optional('PORT', 'port to listen on; by default 8080'),
    docs: flag('add interactive documentation at /docs'),
  },
  examples: ['serve --data ./north --port 8080 --docs'],
  run: async (call) => {
    const { host = '127.0.0.1', port = 8080, docs } = call.options;
    const server = await import('./serveInstance.ts');
    await server.serveInstance(call, { host, port, docs });
    return undefined;
  },
});
