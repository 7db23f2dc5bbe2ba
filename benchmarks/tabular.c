/* A hand-written version of adeu.tabular's loop on a lake. METHOD 0 is ADEU, 1 epsilon-greedy, 2 UCB over several learners. */

#include <math.h>
#include <stdint.h>

typedef struct {
    int64_t episodes, max_steps, evaluate_every, learners;
    double gamma, alpha, beta, shift, temperature, epsilon, mask_probability, ucb;
} Settings;

enum { A = ACTIONS }; /* a compile-time constant, as in the kernel */
static const int32_t *next_state;
static const double *reward, *cost, *start;
static const uint8_t *terminal;

static inline double uniform(uint64_t *rng) {
    uint64_t a = rng[0], b = rng[1], c = rng[2], d = rng[3], total = a + d;
    uint64_t result = ((total << 23) | (total >> 41)) + a;
    c ^= a;
    d ^= b;
    rng[0] = a ^ d;
    rng[1] = b ^ c;
    rng[2] = c ^ (b << 17);
    rng[3] = (d << 45) | (d >> 19);
    return (double)(int64_t)(result >> 11) * 0x1p-53;
}

static inline double sigmoid(double x) {
    if (x >= 0) return 1.0 / (1.0 + exp(-x));
    double small = exp(x);
    return small / (1.0 + small);
}

static inline double best(const double *values) {
    double highest = values[0];
    for (int64_t a = 1; a < A; a++)
        if (values[a] > highest) highest = values[a];
    return highest;
}

static inline int64_t any_from(const double *values, double lowest, uint64_t *rng) {
    int64_t count = 0, chosen = 0;
    for (int64_t a = 0; a < A; a++)
        if (values[a] >= lowest) {
            count++;
            chosen = a;
        }
    if (count > 1) {
        int64_t left = (int64_t)(uniform(rng) * count);
        for (int64_t a = 0; a < A; a++)
            if (values[a] >= lowest && left-- == 0) return a;
    }
    return chosen;
}

static inline int64_t choose(const double *weights, uint64_t *rng) {
    double total = 0.0;
    for (int64_t a = 0; a < A; a++) total += weights[a];
    double point = uniform(rng) * total;
    int64_t chosen = 0;
    for (int64_t a = 0; a < A; a++)
        if (weights[a] > 0) {
            chosen = a;
            point -= weights[a];
            if (point < 0) break;
        }
    return chosen;
}

static inline int64_t first_state(int64_t S, uint64_t *rng) {
    double point = uniform(rng);
    int64_t s = 0;
    while (s < S - 1 && point >= start[s]) s++;
    return s;
}

static inline void value(const double *q, int64_t learners, double ucb, int64_t s, double *center) {
    const double *row = q + s * learners * A;
    for (int64_t a = 0; a < A; a++) {
        double total = 0.0, squares = 0.0;
        for (int64_t i = 0; i < learners; i++) total += row[i * A + a];
        double mean = total / learners;
        if (ucb > 0)
            for (int64_t i = 0; i < learners; i++) squares += (row[i * A + a] - mean) * (row[i * A + a] - mean);
        center[a] = ucb > 0 ? mean + ucb * sqrt(squares / learners) : mean;
    }
}

static inline int64_t act(const Settings *x, const double *center, int64_t visits, double *scratch, uint64_t *rng,
                          double *uncertainty, double *spread, int *explored) {
#if METHOD == 0
    *uncertainty = 1.0 / (x->beta * sqrt((double)(visits + 1)));
    *spread = sigmoid(x->shift - 1.0 / *uncertainty);
    double trust = (1.0 - *spread) / x->temperature, highest = best(center);
    for (int64_t a = 0; a < A; a++) scratch[a] = exp(trust * (center[a] - highest));
    int64_t action = choose(scratch, rng);
    *explored = center[action] < highest;
    return action;
#else
    *uncertainty = *spread = METHOD == 1 ? x->epsilon : 0.0;
    *explored = uniform(rng) < *spread;
    return any_from(center, *explored ? -1.7976931348623157e308 : best(center), rng);
#endif
}

void train(const Settings *x, int64_t S, const int32_t *next_, const double *reward_,
           const uint8_t *terminal_, const double *cost_, const double *start_, double *q, int64_t *visits,
           int64_t *steps, int64_t *violations, int64_t *explorations, int64_t *switches,
           double *uncertainties, double *spreads, double *returns, uint64_t *rng, uint64_t *evaluation_rng) {
    next_state = next_, reward = reward_, terminal = terminal_, cost = cost_, start = start_;
    const int64_t learners = METHOD == 2 ? x->learners : 1;
    double center[64], scratch[64];
    for (int64_t episode = 0; episode < x->episodes; episode++) {
        int64_t s = first_state(S, rng), t = 0, violated = 0, explored_steps = 0, switched = 0;
        double uncertainty_sum = 0.0, spread_sum = 0.0, uncertainty, spread;
        int before = 0, explored;
        while (t < x->max_steps) {
            value(q, learners, METHOD == 2 ? x->ucb : 0.0, s, center);
            int64_t a = act(x, center, visits[s], scratch, rng, &uncertainty, &spread, &explored);
            int64_t k = s * A + a, to = next_state[k];
            violated += cost[k] > 0;
            explored_steps += explored;
            switched += explored != before;
            uncertainty_sum += uncertainty;
            spread_sum += spread;
            before = explored;
            for (int64_t i = 0; i < learners; i++) {
                const double *row = q + (to * learners + i) * A;
                double target = terminal[k] ? reward[k] : reward[k] + x->gamma * best(row);
                double *here = q + (s * learners + i) * A + a, td_error = target - *here;
                if (METHOD != 2 || x->mask_probability >= 1 || uniform(rng) < x->mask_probability)
                    *here += x->alpha * td_error;
            }
            visits[s]++;
            t++;
            s = to;
            if (terminal[k]) break;
        }
        steps[episode] = t;
        violations[episode] = violated;
        explorations[episode] = explored_steps;
        switches[episode] = switched;
        uncertainties[episode] = uncertainty_sum;
        spreads[episode] = spread_sum;
        if ((episode + 1) % x->evaluate_every == 0) {
            double total = 0.0;
            s = first_state(S, evaluation_rng);
            for (t = 0; t < x->max_steps; t++) {
                value(q, learners, 0.0, s, center);
                int64_t k = s * A + any_from(center, best(center), evaluation_rng);
                total += reward[k];
                if (terminal[k]) break;
                s = next_state[k];
            }
            returns[(episode + 1) / x->evaluate_every - 1] = total;
        }
    }
}
