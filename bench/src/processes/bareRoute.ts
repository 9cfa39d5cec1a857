import Fastify from 'fastify';

/*
 * The peer of `send`: a Fastify route that reads the same JSON and returns an answer of the same size, and does
 * nothing else.
 */
const app = Fastify();
const text = { type: 'string' };
app.post(
  '/send',
  {
    schema: {
      body: {
        type: 'object',
        required: ['to', 'message'],
        properties: { to: text, message: text },
        additionalProperties: false,
      },
      response: {
        201: {
          type: 'object',
          properties: { messageId: text, to: text, message: text, status: text, timestamp: text },
        },
      },
    },
  },
  async (request, reply) => {
    const { to, message } = request.body as { to: string; message: string };
    reply.code(201);
    return { messageId: 'msg_0', to, message, status: 'sent', timestamp: new Date().toISOString() };
  },
);
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
process.on('SIGTERM', () => process.exit(0));
