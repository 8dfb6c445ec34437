"""Names of SciPy that have no formula of ours: how a graph calls SciPy for them.

`T.special` and `T.linalg` ask here last, when a name is missing; a test calls each advice that is a call.
"""

from __future__ import annotations

from collections.abc import Mapping

ELEMENTWISE: Mapping[tuple[int, int], str] = {
    (1, 1): """kolmogi kolmogorov wrightomega bei beip ber berp it2struve0 itmodstruve0 itstruve0 kei keip ker kerp""",
    (1, 2): """shichi sici it2i0k0 it2j0y0 iti0k0 itj0y0 modfresnelm modfresnelp""",
    (1, 4): """itairy kelvin""",
    (2, 1): """agm chdtriv elliprc eval_chebyc eval_chebys eval_hermite eval_hermitenorm eval_sh_chebyt eval_sh_chebyu
        eval_sh_legendre expn pdtrik smirnov smirnovi stdtridf tklmbda mathieu_a mathieu_b modstruve
        ellipeinc ellipkinc""",
    (2, 2): """pbdv pbvv pbwa""",
    (2, 4): """ellipj""",
    (3, 1): """bdtri bdtrik bdtrin btdtria btdtrib chndtr chndtridf chndtrinc chndtrix elliprd elliprf elliprg
        eval_gegenbauer eval_genlaguerre fdtridfd gdtria gdtrib gdtrix hyperu lpmv nbdtri nbdtrik
        nbdtrin nctdtr nctdtridf nctdtrinc nctdtrit nrdtrimn nrdtrisd log_wright_bessel obl_cv pro_cv
        wright_bessel besselpoly""",
    (3, 2): """mathieu_cem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 mathieu_sem""",
    (4, 1): """elliprj eval_jacobi eval_sh_jacobi ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc""",
    (4, 2): """obl_ang1 obl_rad1 obl_rad2 pro_ang1 pro_rad1 pro_rad2""",
    (5, 2): """obl_ang1_cv obl_rad1_cv obl_rad2_cv pro_ang1_cv pro_rad1_cv pro_rad2_cv""",
}
"""Special functions of each element, by the numbers of operands and of results."""
NUMBERS: Mapping[str, str] = {
    "special": """ai_zeros assoc_laguerre bei_zeros beip_zeros ber_zeros bernoulli berp_zeros bi_zeros erf_zeros
        euler factorial2 factorialk fresnel_zeros fresnelc_zeros fresnels_zeros h1vp h2vp jn_zeros jnjnp_zeros
        jnp_zeros jnyn_zeros kei_zeros keip_zeros kelvin_zeros ker_zeros kerp_zeros lmbda lqmn lqn
        mathieu_even_coef mathieu_odd_coef obl_cv_seq pbdn_seq pbdv_seq pbvv_seq pro_cv_seq riccati_jn
        riccati_yn stirling2 y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros legendre chebyt chebyu chebyc
        chebys jacobi laguerre genlaguerre hermite hermitenorm gegenbauer sh_legendre sh_chebyt sh_chebyu
        sh_jacobi roots_legendre roots_chebyt roots_chebyu roots_chebyc roots_chebys roots_jacobi
        roots_laguerre roots_genlaguerre roots_hermite roots_hermitenorm roots_gegenbauer roots_sh_legendre
        roots_sh_chebyt roots_sh_chebyu roots_sh_jacobi p_roots t_roots u_roots c_roots s_roots j_roots
        l_roots la_roots h_roots he_roots cg_roots ps_roots ts_roots us_roots js_roots assoc_legendre_p
        assoc_legendre_p_all legendre_p legendre_p_all sph_harm_y sph_harm_y_all sph_legendre_p
        sph_legendre_p_all ellip_harm ellip_harm_2 ellip_normal""",
    "linalg": """bandwidth cdf2rdf clarkson_woodruff_transform convolution_matrix cossin fiedler fiedler_companion
        hadamard helmert invhilbert invpascal leslie matrix_balance pascal""",
}
"""Functions of numbers, which exist before a graph is built."""
DENSITIES: Mapping[tuple[str, int], str] = {
    ("logpdf", 0): """anglit arcsine cosine gibrat gumbel_l halflogistic hypsecant kstwobign landau levy_l moyal
        semicircular""",
    ("logpdf", 1): """alpha argus bradford chi dgamma dweibull exponpow fatiguelife fisk foldcauchy foldnorm genextreme
        genhalflogistic genlogistic gennorm genpareto gompertz halfgennorm invweibull irwinhall kappa3 ksone
        kstwo loggamma loglaplace lomax nakagami pearson3 powerlaw powernorm rdist recipinvgauss
        rel_breitwigner rice skewcauchy truncexpon tukeylambda vonmises_line weibull_max wrapcauchy""",
    ("logpdf", 2): """betaprime burr burr12 crystalball exponweib gengamma geninvgauss jf_skew_t johnsonsb johnsonsu
        kappa4 levy_stable loguniform mielke nct ncx2 norminvgauss powerlognorm reciprocal studentized_range
        trapezoid truncpareto""",
    ("logpdf", 3): """genexpon genhyperbolic ncf truncweibull_min""",
    ("logpdf", 4): """dpareto_lognorm gausshyper""",
    ("logpmf", 1): """dlaplace planck poisson_binom yulesimon""",
    ("logpmf", 2): """boltzmann skellam zipfian""",
    ("logpmf", 3): """betanbinom nhypergeom""",
    ("logpmf", 4): """nchypergeom_fisher nchypergeom_wallenius""",
}
"""Distributions of SciPy's that are none of ours, by the method for their log density and the number of parameters."""
STATISTICS = """alexandergovern anderson anderson_ksamp ansari barnard_exact bartlett bayes_mvs binned_statistic
        binned_statistic_2d binned_statistic_dd binomtest bootstrap boschloo_exact boxcox_llf boxcox_normmax
        boxcox_normplot brunnermunzel bws_test chatterjeexi chi2_contingency chisquare combine_pvalues
        cramervonmises cramervonmises_2samp cumfreq describe differential_entropy directional_stats
        dirichlet_multinomial dunnett ecdf energy_distance epps_singleton_2samp expectile f_oneway
        false_discovery_control fisher_exact fit fligner friedmanchisquare gaussian_kde goodness_of_fit
        invwishart jarque_bera kendalltau kruskal ks_1samp ks_2samp kstat kstatvar kstest kurtosistest
        levene lmoment logrank mannwhitneyu matrix_normal matrix_t median_test monte_carlo_test mood
        multiscale_graphcorr multivariate_hypergeom multivariate_t mvsdist normal_inverse_gamma normaltest
        obrientransform order_statistic ortho_group page_trend_test permutation_test pointbiserialr
        poisson_means_test power power_divergence ppcc_max ppcc_plot probplot quantile_test
        random_correlation random_table ranksums relfreq rv_histogram shapiro siegelslopes skewtest
        sobol_indices somersd spearmanr spearmanrho special_ortho_group theilslopes tiecorrect trim1
        trimboth truncate ttest_1samp ttest_ind ttest_ind_from_stats ttest_rel tukey_hsd uniform_direction
        unitary_group vonmises_fisher wasserstein_distance wasserstein_distance_nd weightedtau wilcoxon
        wishart yeojohnson yeojohnson_llf yeojohnson_normmax yeojohnson_normplot
"""
"""Functions of SciPy's statistics: tests, estimates and families of arrays, which take values."""
OPERANDS = ("x", "y", "x", "y", "s")


def by_scipy(space: str, name: str) -> str:
    """Return the call of SciPy in a graph; empty if SciPy has no such function."""
    for (operands, results), names in ELEMENTWISE.items() if space == "special" else ():
        if name in names.split():
            declared = "x" if results == 1 else f"({', '.join('x' * results)})"
            return f"ag.pure_callback(scipy.special.{name}, {declared}, {', '.join(OPERANDS[:operands])})"
    for (method, count), names in DENSITIES.items() if space == "distributions" else ():
        if name in names.split():
            values = ", ".join(("x", *"yxys"[:count]))
            return f"ag.pure_callback(scipy.stats.{name}.{method}, x, {values})"
    if space == "distributions" and name in STATISTICS.split():
        return f"scipy.stats.{name}(...) of values that a function returned"
    return f"T.as_tensor(scipy.{space}.{name}(...))" if name in NUMBERS.get(space, "").split() else ""
