import { http } from '@google-cloud/functions-framework';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';

// The least that a function on Hono can be: what ours take longer than this one is their own.
const app = new Hono().get('/', (context) => context.json({}));
const listen = getRequestListener(app.fetch);
http('emptyFunction', (request, response) => void listen(request, response));
