import type { Plan } from '../payments/sale.ts';

/** What the vendor sells. The prices are those of `catalog.yaml`. */
export const PLANS = {
  home: {
    product: 'home',
    name: 'Contour Home',
    cycle: null,
    amount: 5_900,
    prices: {
      paddle: 'pri_01k2m7homeonce0000000demo0',
      stripe: 'price_1QcontourHomeOnce',
      lemonsqueezy: 'once:481202',
      standard: 'home-once',
    },
  },
  studioMonth: {
    product: 'studio',
    name: 'Contour Studio, monthly',
    cycle: 'month',
    amount: 1_400,
    prices: {
      paddle: 'pri_01k2m7studiomonth00000demo',
      stripe: 'price_1QcontourStudioMonth',
      lemonsqueezy: '481203',
      standard: 'studio-month',
    },
  },
  studioYear: {
    product: 'studio',
    name: 'Contour Studio, yearly',
    cycle: 'year',
    amount: 13_900,
    prices: {
      paddle: 'pri_01k2m7studioyear000000demo',
      stripe: 'price_1QcontourStudioYear',
      lemonsqueezy: '481204',
      standard: 'studio-year',
    },
  },
  teamYear: {
    product: 'team',
    name: 'Contour Team, yearly',
    cycle: 'year',
    amount: 9_900,
    prices: {
      paddle: 'pri_01k2m7teamyear00000000demo',
      stripe: 'price_1QcontourTeamYear',
      lemonsqueezy: '481205',
      standard: 'team-year',
    },
  },
} as const satisfies Readonly<Record<string, Plan>>;
