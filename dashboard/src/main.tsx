import './style.css';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isLoggedOut } from './api.ts';
import { ToastProvider } from './components/toast.tsx';
import { createAppRouter } from './routes.tsx';
import { accountQuery } from './shell/account.ts';
import { followOtherTabs } from './shell/tabs.ts';
import { followSystemTheme } from './theme.ts';

// While a dialog is open, a style sheet keeps the page behind it from scrolling: it needs the nonce of this page.
setNonce(document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '');
followSystemTheme();
followOtherTabs();

/** A login can end while the page is open. The way into the shell asks again who is logged in, and leads away. */
const leaveIfLoggedOut = (error: unknown) => {
  if (!isLoggedOut(error) || ['/login', '/register'].includes(router.state.location.pathname)) return;
  queries.removeQueries({ queryKey: accountQuery.queryKey });
  void router.invalidate();
};
const queries = new QueryClient({
  queryCache: new QueryCache({
    // Of the account itself, the shell's own guard asks.
    onError: (error, query) => query.queryKey[0] === 'account' || leaveIfLoggedOut(error),
  }),
  mutationCache: new MutationCache({ onError: leaveIfLoggedOut }),
  // The SDK repeats what may be repeated, and events say when something has changed.
  defaultOptions: { queries: { retry: false, staleTime: 5000 } },
});
const router = createAppRouter(queries);

const place = document.getElementById('root');
if (place === null) throw new Error('index.html has no #root');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <ToastProvider>
        <RouterProvider router={router} />
      </ToastProvider>
    </QueryClientProvider>
  </StrictMode>,
);
