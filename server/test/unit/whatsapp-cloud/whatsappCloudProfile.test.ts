import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { it } from 'node:test';
import { FakeHost } from '../../../../connector-kit/src/fakeHost.ts';
import { createWhatsappCloud } from '../../../src/connectors/whatsapp-cloud/whatsappCloud.ts';
import { createTargetPolicy } from '../../../src/egress/target.ts';
import { startFakeGraph } from '../../support/fakeGraph/fakeGraph.ts';

it('reads the business profile of its own number', async (t) => {
  const graph = await startFakeGraph();
  t.after(() => graph.close());
  const targets = createTargetPolicy({ host: '127.0.0.1', allowedCidrs: [] });
  const settings = { baseUrl: new URL(graph.url), version: 'v26.0', maxFileBytes: 1_000_000, targets };
  const host = new FakeHost({ options: graph.options });
  const connection = await createWhatsappCloud(settings).open(host);
  t.after(() => connection.close());
  await connection.attempt;
  const { picture: none, ...empty } = (await connection.profiles?.readOwn?.()) ?? assert.fail();
  assert.equal(none, null);
  assert.deepEqual(empty, {
    name: 'Lucky Shrub',
    about: null,
    business: { address: null, description: null, email: null, websites: [], vertical: null },
  });
  const picture = Buffer.from('a picture');
  const business = { address: 'Tea Lane', websites: ['https://example.com/'], vertical: 'RETAIL' };
  Object.assign(graph.profile, { about: 'Tea', picture, ...business });
  const { picture: shown, ...full } = (await connection.profiles?.readOwn?.()) ?? assert.fail();
  assert.deepEqual(full, {
    name: 'Lucky Shrub',
    about: 'Tea',
    business: { ...business, description: null, email: null },
  });
  assert.deepEqual(await buffer((await shown?.open()) ?? assert.fail()), picture);
});
