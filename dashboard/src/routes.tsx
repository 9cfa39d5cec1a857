import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router';
import { isLoggedOut } from './api.ts';
import { LoadingLines } from './components/states.tsx';
import { lazyPage } from './lazyPage.tsx';
import { chatSearch } from './pages/chats/search.ts';
import { deliveryFilters } from './pages/deliveries/filters.ts';
import { eventSearch } from './pages/events/search.ts';
import { accountQuery } from './shell/account.ts';
import { NotFound, NotFoundPage } from './shell/notFoundPage.tsx';
import { RouteFailure } from './shell/routeFailure.tsx';
import { Shell } from './shell/shell.tsx';

/*
 * All routes of the dashboard. `lazyPage` loads the code of a page when it is opened. Search parameters are validated
 * here, which gives them their types.
 */

const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Outlet });

/** Validates the path to open after the login. It never leaves this site. */
const validateNext = ({ next }: { next?: unknown }): { next?: string | undefined } => ({
  // Set even if it is undefined: a parameter that is missing here would keep its raw value. Browsers ignore tabs and
  // new lines in a URL.
  next: typeof next === 'string' && /^\/(?![/\\\t\r\n])/.test(next) ? next : undefined,
});

/** Redirects readers who are logged in to the page that they wanted. */
const redirectIfLoggedIn = async ({
  context: { queries },
  search: { next = '/' },
}: {
  context: { queries: QueryClient };
  search: { next?: string | undefined };
}) => {
  // The guard of the shell redirects here when nobody is logged in.
  if (isLoggedOut(queries.getQueryState(accountQuery.queryKey)?.error)) return;
  // The cached account may belong to a login that has ended. If the server cannot be reached, the form says so.
  const isKnown = await queries.fetchQuery({ ...accountQuery, staleTime: 0 }).then(
    () => true,
    () => false,
  );
  if (isKnown) throw redirect({ href: next, replace: true });
};

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: validateNext,
  beforeLoad: redirectIfLoggedIn,
  component: lazyPage(() => import('./pages/login/loginPage.tsx'), 'LoginPage'),
});
const register = createRoute({
  getParentRoute: () => root,
  path: '/register',
  validateSearch: validateNext,
  beforeLoad: redirectIfLoggedIn,
  component: lazyPage(() => import('./pages/login/registerPage.tsx'), 'RegisterPage'),
});

/** The parent of all pages that need a login. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    try {
      // A cached account is enough, however old it is: the next request finds out whether the login has ended.
      await context.queries.fetchQuery({ ...accountQuery, staleTime: Number.POSITIVE_INFINITY });
    } catch (error) {
      if (!isLoggedOut(error)) throw error;
      throw redirect({ to: '/login', search: location.pathname === '/' ? {} : { next: location.href } });
    }
  },
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: lazyPage(() => import('./pages/overview/overviewPage.tsx'), 'OverviewPage'),
});
const sessions = createRoute({
  getParentRoute: () => shell,
  path: '/sessions',
  component: lazyPage(() => import('./pages/sessions/sessionsPage.tsx'), 'SessionsPage'),
});
const session = createRoute({
  getParentRoute: () => shell,
  path: '/sessions/$sessionId',
  component: lazyPage(() => import('./pages/sessions/sessionPage.tsx'), 'SessionPage'),
});
const chats = createRoute({
  getParentRoute: () => shell,
  path: '/chats',
  validateSearch: chatSearch,
  component: lazyPage(() => import('./pages/chats/chatsPage.tsx'), 'ChatsPage'),
});
const simulator = createRoute({
  getParentRoute: () => shell,
  path: '/simulator',
  validateSearch: chatSearch,
  component: lazyPage(() => import('./pages/simulator/simulatorPage.tsx'), 'SimulatorPage'),
});
const groups = createRoute({
  getParentRoute: () => shell,
  path: '/groups',
  validateSearch: chatSearch,
  component: lazyPage(() => import('./pages/groups/groupsPage.tsx'), 'GroupsPage'),
});
const group = createRoute({
  getParentRoute: () => shell,
  path: '/groups/$groupId',
  component: lazyPage(() => import('./pages/groups/groupPage.tsx'), 'GroupPage'),
});
const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks',
  component: lazyPage(() => import('./pages/webhooks/webhooksPage.tsx'), 'WebhooksPage'),
});
const webhook = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks/$webhookId',
  component: lazyPage(() => import('./pages/webhooks/webhookPage.tsx'), 'WebhookPage'),
});
const deliveries = createRoute({
  getParentRoute: () => shell,
  path: '/deliveries',
  validateSearch: deliveryFilters,
  component: lazyPage(() => import('./pages/deliveries/deliveriesPage.tsx'), 'DeliveriesPage'),
});
const delivery = createRoute({
  getParentRoute: () => shell,
  path: '/deliveries/$deliveryId',
  component: lazyPage(() => import('./pages/deliveries/deliveryPage.tsx'), 'DeliveryPage'),
});
const events = createRoute({
  getParentRoute: () => shell,
  path: '/events',
  validateSearch: eventSearch,
  component: lazyPage(() => import('./pages/events/eventsPage.tsx'), 'EventsPage'),
});
const keys = createRoute({
  getParentRoute: () => shell,
  path: '/keys',
  component: lazyPage(() => import('./pages/apiKeys/apiKeysPage.tsx'), 'ApiKeysPage'),
});
const tools = createRoute({
  getParentRoute: () => shell,
  path: '/tools',
  component: lazyPage(() => import('./pages/mcp/mcpPage.tsx'), 'McpPage'),
});
const reference = createRoute({
  getParentRoute: () => shell,
  path: '/reference',
  component: lazyPage(() => import('./pages/reference/referencePage.tsx'), 'ReferencePage'),
});
const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  component: lazyPage(() => import('./pages/account/accountPage.tsx'), 'AccountPage'),
});

const notFound = createRoute({ getParentRoute: () => shell, path: '$', component: NotFoundPage });

const routeTree = root.addChildren([
  login,
  register,
  shell.addChildren([
    overview,
    sessions,
    session,
    chats,
    simulator,
    groups,
    group,
    webhooks,
    webhook,
    deliveries,
    delivery,
    events,
    keys,
    tools,
    reference,
    account,
    notFound,
  ]),
]);

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree,
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultPendingComponent: () => <LoadingLines count={6} />,
    defaultErrorComponent: RouteFailure,
    defaultNotFoundComponent: NotFound,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
