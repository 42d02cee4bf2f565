import { lemonSqueezyShop } from './lemon-squeezy.ts';
import { ownShop } from './own-shop.ts';
import { paddleShop } from './paddle.ts';
import type { Shop, ShopProvider } from './sale.ts';
import { stripeShop } from './stripe.ts';

/** The shop of each payment provider. */
export const SHOPS: Readonly<Record<ShopProvider, Shop>> = {
  paddle: paddleShop,
  stripe: stripeShop,
  lemonsqueezy: lemonSqueezyShop,
  standard: ownShop,
};
