/* A module of a user in strict TypeScript, with the real types of the frameworks. */

import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { webhookHandler as expressHandler } from '@switchboard/sdk/express';
import { webhookPlugin } from '@switchboard/sdk/fastify';
import { webhookHandler as honoHandler } from '@switchboard/sdk/hono';
import type { HandlerOptions } from '@switchboard/sdk/next';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';

const options: HandlerOptions = { secret: 'between us', onEvent: ({ event }) => event };

express().post('/hook', expressHandler(options));
express.Router().post('/hook', express.raw(), expressHandler(options));
createServer(expressHandler(options));
createHttp2Server(expressHandler(options));

fastify().register(webhookPlugin, { prefix: '/hooks', path: '/switchboard', ...options });
fastify({ http2: true }).register(webhookPlugin, options);
// @ts-expect-error the secret is missing
fastify().register(webhookPlugin, { onEvent: () => {} });

interface Bindings {
  readonly WEBHOOK_SECRET: string;
}
new Hono().post('/hook', honoHandler(options));
new Hono<{ Bindings: Bindings }>().post('/hook', (c) => honoHandler({ ...options, secret: c.env.WEBHOOK_SECRET })(c));
